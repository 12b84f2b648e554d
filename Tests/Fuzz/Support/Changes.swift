/// Bytes with some of them changed, as the input says: three bytes each, a place and a value.
func changed(_ bytes: [UInt8], by changes: ArraySlice<UInt8>) -> [UInt8] {
    var bytes = bytes
    var rest = changes
    while rest.count >= 3 {
        let three = Array(rest.prefix(3))
        rest = rest.dropFirst(3)
        bytes[(Int(three[0]) << 8 | Int(three[1])) % bytes.count] = three[2]
    }
    return bytes
}
