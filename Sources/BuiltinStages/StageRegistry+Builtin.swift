public import PipelineKit

extension StageRegistry {
    /// The kinds that Dropmill brings along, in the order they are shown. A new kind is one file and one line here.
    public static let builtin = StageRegistry(
        [
            UnpackStage.self,
            ScanStage.self,
            DetectStage.self,
            SelectStage.self,
            RenameStage.self,
            DedupeStage.self,
            VerifyStage.self,
            ChecksumStage.self,
            BagStage.self,
            CompressStage.self,
            RunStage.self,
            HTTPStage.self,
            CopyStage.self,
            MoveStage.self,
        ], helpers: [UnpackProgram.helper, TypeProgram.helper])
}
