import NetManager

@main
struct AKStyle {
    static func main() {
        print(HTTPMethod.get.rawValue)
    }
}
