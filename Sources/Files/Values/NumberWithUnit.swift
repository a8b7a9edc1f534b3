/// Splits `1.5MiB` into its number and its unit.
enum NumberWithUnit {
    static func split(_ text: String) -> (number: Double, unit: String)? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard digits.first?.isNumber == true, digits.last?.isNumber == true, let number = Double(digits) else {
            return nil
        }
        return (number, String(text[digits.endIndex...].drop { $0 == " " }))
    }
}
