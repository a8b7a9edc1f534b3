/// Writes ar archives, with names as they stand in the headers: GNU's end with `/`.
package enum ArBuilder {
    /// An archive of these members.
    package static func archive(_ members: [(name: String, content: String)]) -> [UInt8] {
        Array("!<arch>\n".utf8) + members.flatMap { member($0.name, $0.content) }
    }

    /// One member: its header and its content.
    package static func member(_ name: String, _ content: String) -> [UInt8] {
        func field(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: width - text.utf8.count)
        }
        let fields = [
            field(name, 16), field("0", 12), field("0", 6), field("0", 6), field("100644", 8),
            field("\(content.utf8.count)", 10),
        ]
        let padding = content.utf8.count % 2 == 0 ? "" : "\n"
        return Array((fields.joined() + "`\n" + content + padding).utf8)
    }
}
