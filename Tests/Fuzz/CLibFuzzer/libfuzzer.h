// What a fuzzer of our own sees of libFuzzer: <https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library>.
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);
