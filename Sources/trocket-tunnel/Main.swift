// The program `trocket-tunnel`: wiring only.

@main
struct Main {
    static func main() {}
}
