import PipelineKit
import Testing

@testable import DropmillCommand

/// How many files come at a time, and what they are still to bring.
@Suite struct UploadBookTests {
    private func enter(_ book: inout UploadBook, _ name: String, size: Int64 = 10) -> UploadRefusal.Code? {
        do throws(UploadRefusal) {
            _ = try book.enter("press", Array(name.utf8), size: size)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func eightComeAtATimeEachUnderANameOfItsOwn() throws {
        var book = UploadBook()
        let first = try book.enter("press", Array("a".utf8), size: 1)
        #expect(enter(&book, "a") == .nameTaken)
        for number in 2...8 { #expect(enter(&book, "a\(number)") == nil) }
        #expect(enter(&book, "b") == .tooMany)
        book.leave(first)
        #expect(enter(&book, "a") == nil)
        book.close()
        book.leave(first + 1)
        #expect(enter(&book, "c") == .stopping)
    }

    @Test func whatIsStillToComeIsCountedPerFileSystem() throws {
        var book = UploadBook()
        let one = try book.enter("press", Array("1".utf8), size: 100)
        #expect(book.promised(on: 7, besides: one) == 0)
        let two = try book.enter("press", Array("2".utf8), size: 50)
        #expect(book.promised(on: 7, besides: two) == 100)
        book.note(one, written: 60)
        #expect(book.promised(on: 7, besides: two) == 40)
        book.note(one, written: 1000)
        #expect(book.promised(on: 7, besides: two) == 0)
        book.note(one, written: -5)
        #expect(book.promised(on: 8, besides: two) == 0, "it is on another one")
        let huge = try book.enter("press", Array("3".utf8), size: .max)
        _ = try book.enter("press", Array("4".utf8), size: .max)
        #expect(book.promised(on: 7, besides: one) == .max)
        book.leave(huge)
    }
}
