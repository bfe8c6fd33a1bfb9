import { BytesDiffer, UntrueAnswer } from '@svc/sdk/errors'
import { Failure, NotVerified } from '../errors.ts'
import type { Output } from '../output/output.ts'
import { counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { describeError } from '../report.ts'

/** The outcome of one file. */
export type Outcome =
  | {
      filename: string
      status: 'stored' | 'saved' | 'unchanged'
      size_bytes: number
      content_hash: string | null
      /** Saved as it is, and encrypted. */
      encrypted?: true
    }
  | { filename: string; status: 'failed'; error: unknown }

/** Reports each file when it is done and a summary at the end. */
export function outcomeReporter({ result, note, style }: Output) {
  const counts = new Map<Outcome['status'], number>()
  const failures: unknown[] = []
  let encrypted = 0

  return {
    report(outcome: Outcome): void {
      const { filename, status } = outcome
      counts.set(status, (counts.get(status) ?? 0) + 1)
      if (outcome.status !== 'failed') {
        if (outcome.encrypted) encrypted++
        const mark = outcome.status === 'unchanged' ? style.dim('=') : style.good('✓')
        result(outcome, () => `${mark} ${shown(filename)}${outcome.encrypted ? style.dim(' (encrypted)') : ''}`)
        return
      }
      failures.push(outcome.error)
      const { code, message } = describeError(outcome.error)
      const line = { filename, status, error: code, message }
      result(line, () => `${style.bad('✗')} ${shown(filename)}: ${shown(message)}`)
    },

    /** Throws if a file failed. */
    end(hint: string): void {
      const summary = summaryOf(counts)
      if (encrypted > 0) note(`${counted(encrypted, 'file')} saved encrypted, as stored: --decrypt decrypts.`)
      if (failures.length === 0) {
        note(summary || 'Nothing to do.')
        return
      }
      const isUntrue = failures.some((error) => error instanceof BytesDiffer || error instanceof UntrueAnswer)
      const message = `${counted(failures.length, 'file')} failed (${summary})`
      throw isUntrue ? new NotVerified(message) : new Failure(message, hint)
    },
  }
}

const DONE = { stored: 'uploaded', saved: 'saved', unchanged: 'skipped (unchanged)', failed: 'failed' }

/** `3 files uploaded, 1 skipped (unchanged)` */
function summaryOf(counts: ReadonlyMap<Outcome['status'], number>): string {
  return [...counts]
    .map(([status, count], i) => `${i === 0 ? counted(count, 'file') : count.toLocaleString('en')} ${DONE[status]}`)
    .join(', ')
}
