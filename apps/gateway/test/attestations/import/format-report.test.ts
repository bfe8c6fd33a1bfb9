import { expect, it } from 'vitest'
import { formatReport } from '../../../src/attestations/import/format-report.ts'

const nothing = { imported: 0, existing: 0, refused: [], unverified: [] }

it('a report has the counts, and a line for every record that needs attention', () => {
  expect(formatReport({ ...nothing, imported: 2, existing: 1 }, false)).toBe(
    '3 records: 2 imported, 1 there already, 0 refused.\n',
  )
  const refused = [{ at: 'line 2', lockerId: null, reason: 'malformed' as const, problem: 'must be an object' }]
  const unverified = [{ at: 'line 1', lockerId: 'locker_14fa9d190572', problem: 'it is unsigned' }]
  expect(formatReport({ imported: 1, existing: 0, refused, unverified }, true)).toBe(`\
2 records: 1 would be imported, 0 there already, 1 refused.

Refused:
  line 2: malformed: must be an object

Unverified signature:
  line 1 (locker_14fa9d190572): it is unsigned
`)
})

it('a report has no control characters from an export, and shortens long text', () => {
  const problem = `key "\u001b[2J\u009b\u202e\r\n${'x'.repeat(1000)}"`
  const refused = [{ at: 'line 1', lockerId: null, reason: 'malformed' as const, problem }]
  expect(formatReport({ ...nothing, refused }, false)).toMatch(/^[\n\x20-\x7e]{1,400}$/)
})
