import { expect, it } from 'vitest'
import { formatReport } from '../../../src/evidence/import/format-report.ts'

const nothing = { imported: 0, existing: 0, refused: [], unverified: [] }

it('a report drops control characters of an export and shortens long text', () => {
  const problem = `key "\u001b[2J\u009b\u202e\r\n${'x'.repeat(1000)}"`
  const refused = [{ at: 'line 1', lockerId: null, reason: 'malformed' as const, problem }]
  expect(formatReport({ ...nothing, refused }, false)).toMatch(/^[\n\x20-\x7e]{1,400}$/)
})
