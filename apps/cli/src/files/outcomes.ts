import { BytesDiffer, UntrueAnswer } from '@svc/sdk/errors'
import { Failure, NotVerified } from '../errors.ts'
import type { Output } from '../output/output.ts'
import { bytesText, counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { describeError, uploadDetailsOf } from '../report.ts'

/** The file that an upload has replaced. */
interface Replaced {
  size_bytes: number | null
  uploaded_at: string | null
}

/** The outcome of one file. */
export type Outcome =
  | {
      filename: string
      status: 'stored' | 'saved' | 'unchanged'
      size_bytes: number
      content_hash: string | null
      replaces?: Replaced
      /** Where it is on disk, if not under its own name. */
      saved_as?: string
      /** Saved unchanged and still encrypted. */
      encrypted?: true
    }
  | { filename: string; status: 'deleted' }
  | { filename: string; status: 'failed'; error: unknown }

type Status = Outcome['status']

/** Reports each file when it is done and a summary at the end. With `isDryRun`, nothing was done. */
export function outcomeReporter({ result, item, note, style }: Output, { isDryRun = false, isUpload = false } = {}) {
  const counts = new Map<Status, number>()
  const failures: unknown[] = []
  let encrypted = 0

  return {
    count: (status: Status): number => counts.get(status) ?? 0,

    report(outcome: Outcome): void {
      const { filename, status } = outcome
      counts.set(status, (counts.get(status) ?? 0) + 1)
      if (outcome.status !== 'failed') {
        if ('encrypted' in outcome) encrypted++
        const document = isDryRun ? { ...outcome, dry_run: true } : outcome
        const marks = {
          unchanged: style.dim('='),
          deleted: style.bad('-'),
          stored: style.good('✓'),
          saved: style.good('✓'),
        }
        // A dry run does nothing else than report.
        const write = isDryRun ? result : item
        write(document, () => `${marks[outcome.status]} ${shown(filename)}${remarkOn(outcome)}`)
        return
      }
      failures.push(outcome.error)
      const { code, message, hint } = describeError(outcome.error)
      const details = isUpload && { details: uploadDetailsOf(outcome.error, hint) }
      const line = { filename, status, error: code, message, ...details }
      result(line, () => `${style.bad('✗')} ${shown(filename)}: ${shown(message)}`)
    },

    /** Throws if a file failed. */
    end(hint: string): void {
      const summary = summaryOf(counts, isDryRun)
      if (encrypted > 0)
        note(`${counted(encrypted, 'file')} saved encrypted, as stored: \`svc get --decrypt\` decrypts.`)
      if (failures.length === 0) {
        note(summary || 'Nothing to do.')
        return
      }
      const isUntrue = failures.some((error) => error instanceof BytesDiffer || error instanceof UntrueAnswer)
      const failed = `${counted(failures.length, 'file')} failed`
      const message = counts.size > 1 ? `${failed} (${summary})` : failed
      const [first] = failures
      const advice = failures.length === 1 ? describeError(first).hint : null
      throw isUntrue
        ? new NotVerified(message, advice, first)
        : new Failure(message, advice ? `${advice}; ${hint}` : hint, first)
    },
  }
}

/** ` (replaces 1.20 MiB from 2026-11-02)`, ` (encrypted)` or ` → copy.txt` */
function remarkOn(outcome: Exclude<Outcome, { status: 'failed' }>): string {
  const savedAs = 'saved_as' in outcome && outcome.saved_as !== undefined ? ` → ${shown(outcome.saved_as)}` : ''
  if ('encrypted' in outcome) return `${savedAs} (encrypted)`
  if (savedAs !== '') return savedAs
  if (!('replaces' in outcome) || !outcome.replaces) return ''
  const { size_bytes, uploaded_at } = outcome.replaces
  const what = size_bytes === null ? 'other content' : bytesText(size_bytes)
  return ` (replaces ${what}${uploaded_at === null ? '' : ` from ${shown(uploaded_at.slice(0, 10))}`})`
}

const DONE = {
  stored: 'uploaded',
  saved: 'saved',
  unchanged: 'skipped (unchanged)',
  deleted: 'deleted',
  failed: 'failed',
}

/** `3 files uploaded, 1 skipped (unchanged), 2 deleted` */
function summaryOf(counts: ReadonlyMap<Status, number>, isDryRun: boolean): string {
  const statuses = (Object.keys(DONE) as Status[]).filter((status) => counts.has(status)) // Object.keys loses the type
  return statuses
    .map((status, i) => {
      const count = counts.get(status) ?? 0
      const isSkipped = status === 'unchanged'
      const done = isDryRun && !isSkipped ? `would be ${DONE[status]}` : DONE[status]
      return `${i === 0 ? counted(count, 'file') : count.toLocaleString('en')} ${done}`
    })
    .join(', ')
}

/** `big.bin: resuming at 640 MiB of 1.00 GiB` */
export function resumingText(filename: string, kept: number, size: number): string {
  return `${shown(filename)}: resuming at ${bytesText(kept)} of ${bytesText(size)}`
}
