// Bytes nobody can guess.

import CLinux

/// Bytes from the kernel's random number generator. Corresponds to getrandom(2).
package func randomBytes(_ count: Int) throws(SystemCallError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try check(cl_random(&bytes, count), "reading random bytes")
    return bytes
}
