import BuiltinStages
import DropmillCommand

DropmillCommand.main(stages: .builtin)
