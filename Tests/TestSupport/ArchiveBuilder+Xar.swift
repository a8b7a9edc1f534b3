/// Writes xar archives: a table of contents in XML, and here nothing else.
package enum XarBuilder {
    /// The first file is twice the first name of one, which makes a ring of the list that libarchive keeps; the second
    /// looks through the list for a file that is not there, and comes to no end (libarchive's pull request 2123).
    package static var endless: [UInt8] {
        let twice = "<type link=\"original\">hardlink</type><type link=\"original\">hardlink</type>"
        return archive(
            "<file id=\"1\"><name>a</name>\(twice)</file>"
                + "<file id=\"2\"><name>b</name><type link=\"7\">hardlink</type></file>")
    }

    private static func archive(_ files: String) -> [UInt8] {
        let contents = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?><xar><toc>\(files)</toc></xar>".utf8)
        let packed = stored(contents)
        // Version 1, and no checksum.
        return Array("xar!".utf8) + big(28, 2) + big(1, 2) + big(packed.count, 8) + big(contents.count, 8) + big(0, 4)
            + packed
    }

    /// One block of zlib that is not compressed (RFC 1950 and 1951).
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let (low, high) = bytes.reduce((1, 0)) { sums, byte in
            let low = (sums.0 + Int(byte)) % 65521
            return (low, (sums.1 + low) % 65521)
        }
        let length = big(bytes.count, 2).reversed()
        return [0x78, 0x01, 0x01] + length + length.map { ~$0 } + bytes + big(high, 2) + big(low, 2)
    }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
