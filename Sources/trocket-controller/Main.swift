// The program `trocket-controller`: wiring only.

@main
struct Main {
    static func main() {}
}
