// The program `trocket-controller`: wiring only.

import Controller
import Linux

@main
struct Main {
    static func main() {
        reserveStandardDescriptors()
        ignoreBrokenPipes()
        exitProcess(Program.run(Array(Swift.CommandLine.arguments.dropFirst())).rawValue)
    }
}
