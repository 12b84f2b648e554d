import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct PublicKeyPinTests {
    private let digest = Data((0..<32).map { UInt8($0 * 7) })

    @Test func `every spelling of a pin reads as the same pin`() throws {
        let base64 = digest.base64EncodedString()
        let hexadecimal = digest.map { String(format: "%02x", $0) }.joined()
        let spellings = [
            "sha256/" + base64, "sha256//" + base64, base64, hexadecimal, hexadecimal.uppercased(),
            " \(base64)\n",
        ]
        for spelling in spellings {
            #expect(PublicKeyPin(spelling)?.digest == digest, "\(spelling)")
        }
        #expect(PublicKeyPin(digest: digest)?.description == "sha256/" + base64)
    }

    @Test func `a pin that begins with a slash reads in both spellings`() throws {
        let pin = try #require(PublicKeyPin(digest: Data(repeating: 0xFF, count: 32)))
        #expect(pin.description.hasPrefix("sha256//"))
        #expect(PublicKeyPin(pin.description) == pin)
        #expect(PublicKeyPin("sha256//" + pin.description.dropFirst(7)) == pin)
    }

    @Test(arguments: [
        "", "sha256/", "sha256//", "sha256/AAAA", "sha1/qvTGHdzF6KLavt4PO0gs2a6pQ00=",
        "sha256///KioqKioqKioqKioqKioqKioqKioqKioqKioqKioqKio=",
        "sha256/" + String(repeating: "*", count: 44),
        "sha256/" + String(repeating: "A", count: 43), "sha256/" + String(repeating: "A", count: 44),
        "sha256/" + String(repeating: "A", count: 45) + "=", String(repeating: "g", count: 64),
        String(repeating: "0", count: 63), "sha256/" + String(repeating: "0", count: 64),
        "pin-sha256=\"KioqKioqKioqKioqKioqKioqKioqKioqKioqKioqKio=\"",
    ])
    func `anything else is no pin`(text: String) {
        #expect(PublicKeyPin(text) == nil)
    }

    @Test func `a digest has 32 bytes`() {
        #expect(PublicKeyPin(digest: Data(count: 31)) == nil)
        #expect(PublicKeyPin(digest: Data(count: 33)) == nil)
        #expect(PublicKeyPin(digest: (Data([9]) + digest).dropFirst())?.digest == digest)
    }

    @Test func `the pin of a certificate is the SHA-256 of its public key`() throws {
        let leaf = try PrivateTree().leaf
        #expect(try leaf.leaf.publicKeyPin.digest == leaf.certificate.publicKeySHA256)
    }

    @Test func `a pin is written as text and read back`() throws {
        let pin = try #require(PublicKeyPin(digest: digest))
        let json = try JSONEncoder().encode([pin])
        #expect(try JSONDecoder().decode([String].self, from: json) == [pin.description])
        #expect(try JSONDecoder().decode([PublicKeyPin].self, from: json) == [pin])
    }
}
