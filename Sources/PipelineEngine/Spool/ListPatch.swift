/// Bytes that take the place of others in a list.
struct ListPatch: Equatable {
    let offset: Int64
    let bytes: [UInt8]
}
