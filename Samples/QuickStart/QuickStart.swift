import NetManager

@main
struct QuickStart {
    static func main() {
        print(HTTPMethod.get.rawValue)
    }
}
