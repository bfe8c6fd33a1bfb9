// Problems with a file, as texts.

import { BytesDiffer, DecryptionError, InvalidFilename, NameTaken } from '@svc/sdk/errors'
import { texts as t } from '#texts/files'
import { explain, type Problem } from '../../../ui/problems.tsx'
import { NoBytes, TooLargeHere, TooMuchForZip } from './download.ts'

export function explainFileError(error: unknown): Problem {
  if (error instanceof InvalidFilename) return words(t.problems.name(error.message))
  if (error instanceof NameTaken) return words(t.problems.nameTaken)
  if (error instanceof BytesDiffer) return words(t.problems.differs)
  if (error instanceof DecryptionError)
    return words(error.code === 'wrong_key' ? t.problems.wrongKey : t.problems.damaged)
  if (error instanceof NoBytes) return words(t.problems.noBytes)
  if (error instanceof TooLargeHere) return words(t.problems.tooLargeHere)
  if (error instanceof TooMuchForZip) return words(t.problems.tooMuchForZip)
  const { name } = error as { name?: string }
  if (name === 'NotReadableError' || name === 'NotFoundError') return words(t.problems.unreadable)
  return explain(error)
}

function words([title, text]: readonly [string, string]): Problem {
  return { title, text, code: null }
}
