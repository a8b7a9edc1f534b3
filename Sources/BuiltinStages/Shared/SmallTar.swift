/// A tar of one small file, to try things with.
enum SmallTar {
    private static let block = 512

    /// The archive: a header, the file, and the two empty blocks of its end (tar(5), ustar).
    static func bytes(of content: [UInt8], as name: String) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: block)
        func put(_ text: String, at place: Int) {
            header.replaceSubrange(place..<(place + text.utf8.count), with: text.utf8)
        }
        func octal(_ number: Int, digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        put(name, at: 0)
        put("0000644", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        put(octal(content.count, digits: 11), at: 124)
        put(octal(0, digits: 11), at: 136)
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar", at: 257)
        put("00", at: 263)
        put(octal(header.reduce(0) { $0 + Int($1) }, digits: 6), at: 148)
        header[154] = 0
        let padding = (block - content.count % block) % block
        return header + content + [UInt8](repeating: 0, count: padding + 2 * block)
    }
}
