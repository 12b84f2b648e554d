import SecurityPolicy

@main
struct PolicyOnly {
    static func main() {
        print(SecurityPolicy.self)
    }
}
