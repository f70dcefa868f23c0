// What the QRCode module sees of libqrencode.
#include <qrencode.h>
