import { expect, it } from 'vitest'
import { createLog } from '../../src/program/log.ts'

function logged(error: unknown): string {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  createLog('info', { write, writeSoon: write, flush() {} }).warn({ err: error }, 'it failed')
  return lines.join('')
}

it('T-12 errors are logged without the fields that libraries attach', () => {
  const cause = Object.assign(new Error('duplicate key'), {
    code: '23505',
    severity: 'ERROR',
    detail: 'Key (token)=(secret-1) already exists.',
    where: 'COPY tokens, line 1: "secret-2"',
    client: { connectionParameters: { user: 'secret-3' }, secretKey: 'secret-4' },
    node: { kind: 'SelectQueryNode', where: { value: 'secret-5' } },
  })
  const one = new Error('it cannot be stored', { cause })
  for (const error of [cause, one, new AggregateError([one, cause, 'a text'], 'all failed')]) {
    const line = logged(error)
    expect(line).not.toContain('secret')
    expect(line).toContain('duplicate key')
    expect(line).toContain('log.test.ts')
  }
  expect(JSON.parse(logged(cause)).err).toMatchObject({ code: '23505', severity: 'ERROR', message: 'duplicate key' })
  expect(JSON.parse(logged('a text')).err).toBe('a text')
})
