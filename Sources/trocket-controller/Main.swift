// The program `trocket-controller`: wiring only.

import Controller
import Linux

@main
struct Main {
    static func main() {
        reserveStandardDescriptors()
        ignoreBrokenPipes()
        exitProcess(Program.run(OwnArguments.take()).rawValue)
    }
}
