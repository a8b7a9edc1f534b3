import Control
import Files
import Testing

@testable import DropmillCommand
@testable import Notifications

/// Who tries a message that hangs hears of it.
@Suite struct NotifyPatienceTests {
    @Test func anAnswerComesBeforeItIsLate() {
        let program = ProgramSender.patience + ProgramSender.grace
        let test = NotifyService.patienceOfTest
        #expect(program + .seconds(2) < test && test + .seconds(5) < .seconds(NotifyVerb.patience))
    }
}
