/// What SQLite has a type for. A missing one is NULL.
package protocol Bindable: Sendable {
    func bind(to parameters: inout Parameters)
}

extension Int64: Bindable {
    package func bind(to parameters: inout Parameters) { parameters.integer(self) }
}

extension Int: Bindable {
    package func bind(to parameters: inout Parameters) { parameters.integer(self) }
}

extension Bool: Bindable {
    package func bind(to parameters: inout Parameters) { parameters.integer(self ? 1 : 0) }
}

extension String: Bindable {
    package func bind(to parameters: inout Parameters) { parameters.text(self) }
}

extension [UInt8]: Bindable {
    package func bind(to parameters: inout Parameters) { parameters.blob(self) }
}
