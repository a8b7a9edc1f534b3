/// The whole content of a small drop, at hand while stages look at it.
package struct SmallContent {
    /// All its bytes; valid during the call that they are given to.
    package let bytes: UnsafeRawBufferPointer
    /// The file that they are from, open for reading.
    package let descriptor: Int32

    package init(bytes: UnsafeRawBufferPointer, descriptor: Int32) {
        self.bytes = bytes
        self.descriptor = descriptor
    }
}
