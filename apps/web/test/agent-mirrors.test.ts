import { expect, it } from 'vitest'
import { mirrorViews } from '../src/pages/agent/mirrors.ts'

it('T-68 a mirror is shown as failing from its finding until a later run succeeds', () => {
  const source = { url: 'https://files.example/a', filename: 'a' }
  const tasks = { mirror: { sources: [source, { url: 'https://files.example/b', filename: 'b' }] } }
  const finding = (kind: string, at: string) => ({ kind, at, detail: { ...source, reason: 'gone' } })
  const run = (started_at: string, failed?: number) => ({
    task: 'mirror',
    outcome: 'done',
    started_at,
    summary: { failed },
  })
  const stateOf = (log: object[], runs: object[]) =>
    mirrorViews({ tasks, log, runs } as unknown as Parameters<typeof mirrorViews>[0])[0]?.state
  const [one, two, three] = ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', '2026-11-03T00:00:00Z'] as const
  expect(stateOf([], [])).toBe('waiting')
  expect(stateOf([], [run(one)])).toBe('ok')
  expect(stateOf([finding('mirror_failed', two)], [run(one, 1)])).toBe('failing')
  expect(stateOf([finding('mirror_failed', one)], [run(two, 1)])).toBe('unknown')
  expect(stateOf([finding('mirror_failed', one)], [run(two, 2)])).toBe('failing')
  expect(stateOf([finding('mirror_failed', one)], [run(two)])).toBe('ok')
  expect(stateOf([finding('mirror_failed', one), finding('mirror_changed', three)], [run(two, 1)])).toBe('ok')
})
