/// Where a decoder's input comes from.
protocol DecoderInput: BlockSource {
    /// What ended the reading.
    var failure: ArchiveError? { get }
    /// The file, if that is all of the input: then nothing else may follow what was decompressed.
    var whole: ArchiveInput? { get }
}
