import PipelineKit

extension AuditEntry {
    /// Arguments as short as is kept of them: JSON that stays JSON, with what is left out of long lists and texts
    /// counted in their place.
    package static func shortened(_ arguments: String, toBytes longest: Int) -> String {
        guard arguments.utf8.count > longest else { return arguments }
        if let value = JSONValue(arguments) {
            var most = longest
            while most > 1 {
                most /= 2
                var json = JSONText()
                write(value, nil, &json, most: most)
                if json.string.utf8.count <= longest { return json.string }
            }
        }
        var json = JSONText()
        json.object { $0.integer("left_out_bytes", arguments.utf8.count) }
        return json.string
    }

    private static func write(_ value: JSONValue, _ key: String?, _ json: inout JSONText, most: Int) {
        switch value {
        case .null: json.null(key)
        case .bool(let flag): json.flag(key, flag)
        case .number(let number): json.integer(key, Int64(clamping: number))
        case .string(let text):
            let left = text.count - most
            json.text(key, left > 0 ? "\(text.prefix(most))… (\(left) more characters)" : text)
        case .array(let elements):
            json.array(key) { json in
                for element in elements.prefix(most) { write(element, nil, &json, most: most) }
                if elements.count > most { json.text(nil, "… (\(elements.count - most) more)") }
            }
        case .object(let members):
            json.object(key) { json in
                for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                    write(member, name, &json, most: most)
                }
            }
        }
    }
}
