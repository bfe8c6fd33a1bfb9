import { appendFileSync, closeSync, fstatSync, ftruncateSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { JournalEntry } from './journal-entry.ts'
import { parseJson, stringifyJson } from './json.ts'
import { bytesAt, createSummary, type Past, type Place, readSnapshot, type Summary, writeSnapshot } from './snapshot.ts'
import type { TransactionRecord } from './transactions/history.ts'

export interface Journal {
  append(entry: JournalEntry): void
  close(): void
}

export const NO_JOURNAL: Journal = { append() {}, close() {} }

/** Reading this many lines is faster than writing a snapshot. */
const LINES_WITHOUT_SNAPSHOT = 100

/**
 * Everything that changed the chain, one JSON line each. A line is written before the client gets its answer, so a killed
 * process loses nothing acknowledged. If it leaves an incomplete last line, that line is cut off here.
 *
 * The file beside it sums up the journal, so that a start reads only the lines after it. The journal stays whole:
 * without that file, or with one that does not belong to it, all lines are read.
 */
export function openJournal(file: string): { journal: Journal; past: Past } {
  mkdirSync(dirname(file), { recursive: true })
  const descriptor = openSync(file, 'a+')
  const snapshotFile = `${file}.snapshot`
  const summary = createSummary(readSnapshot(snapshotFile, descriptor))
  const linesBefore = summary.end().lines
  readLines(file, descriptor, summary)
  const saveIfLong = (since: number) => {
    if (summary.end().lines - since >= LINES_WITHOUT_SNAPSHOT) writeSnapshot(snapshotFile, descriptor, summary)
  }
  saveIfLong(linesBefore)
  const linesAtStart = summary.end().lines
  const readRecord = ({ offset, length }: Place) => {
    const entry = readEntry(file, '(of a transaction)', bytesAt(descriptor, offset, length).toString('utf8'))
    return (entry as { transaction: TransactionRecord }).transaction // the line of a transaction
  }
  return {
    past: summary.past(readRecord),
    journal: {
      append(entry) {
        const line = Buffer.from(`${stringifyJson(entry)}\n`)
        appendFileSync(descriptor, line)
        summary.note(entry, line.length)
      },
      close() {
        saveIfLong(linesAtStart)
        closeSync(descriptor)
      },
    },
  }
}

function readLines(file: string, descriptor: number, summary: Summary): void {
  const start = summary.end().bytes
  const bytes = bytesAt(descriptor, start, fstatSync(descriptor).size - start)
  let from = 0
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
    const entry = readEntry(file, String(summary.end().lines + 1), bytes.toString('utf8', from, end))
    summary.note(entry, end + 1 - from)
    from = end + 1
  }
  if (from < bytes.length) ftruncateSync(descriptor, start + from)
}

function readEntry(file: string, line: string, text: string): JournalEntry {
  try {
    return parseJson(text) as JournalEntry // written by `append` above
  } catch (cause) {
    throw new Error(`${file} is damaged at line ${line}: remove it to start the local primary chain anew`, { cause })
  }
}
