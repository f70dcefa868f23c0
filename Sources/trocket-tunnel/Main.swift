// The program `trocket-tunnel`: wiring only.

import Linux
import Worker

@main
struct Main {
    static func main() {
        exitProcess(WorkerProgram.run(Array(CommandLine.arguments.dropFirst())))
    }
}
