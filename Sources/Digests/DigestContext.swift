import CCrypto

/// A digest in the making. Can be used for one message after another.
package struct DigestContext: ~Copyable {
    /// Which function.
    package let algorithm: DigestAlgorithm
    private let context: OpaquePointer
    private let implementation: OpaquePointer

    private init(algorithm: DigestAlgorithm, context: OpaquePointer, implementation: OpaquePointer) {
        self.algorithm = algorithm
        self.context = context
        self.implementation = implementation
    }

    deinit { EVP_MD_CTX_free(context) }

    /// A context at the beginning of a message.
    package static func start(_ algorithm: DigestAlgorithm) throws(DigestError) -> DigestContext {
        guard let implementation = algorithm.implementation else { throw .unavailable(algorithm) }
        guard let context = EVP_MD_CTX_new() else { throw .failed(algorithm) }
        let started = DigestContext(algorithm: algorithm, context: context, implementation: implementation)
        try started.restart()
        return started
    }

    /// Forgets what was taken in and begins a new message.
    package func restart() throws(DigestError) {
        guard EVP_DigestInit_ex2(context, implementation, nil) == 1 else { throw .failed(algorithm) }
    }

    /// Takes in the next bytes of the message.
    package func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) {
        guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else { throw .failed(algorithm) }
    }

    /// Ends the message. `restart` comes before the next one.
    package func finish() throws(DigestError) -> Digest {
        var length: UInt32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            count = EVP_DigestFinal_ex(context, buffer.baseAddress, &length) == 1 ? Int(length) : 0
        }
        guard !bytes.isEmpty else { throw .failed(algorithm) }
        return Digest(algorithm, bytes: bytes)
    }
}
