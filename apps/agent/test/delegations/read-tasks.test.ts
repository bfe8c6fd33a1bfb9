import type { Tasks } from '@svc/api/agent/tasks'
import type { ErrorBody } from '@svc/api/errors'
import type { ValidationError } from '@svc/service/service-error'
import { describe, expect, it } from 'vitest'
import { readTasks } from '../../src/delegations/read-tasks.ts'

const source = (url: string, filename = 'a.txt') => ({ url, filename })
const mirror = (...sources: ReturnType<typeof source>[]): Tasks => ({ mirror: { sources } })

function problemsOf(tasks: Tasks): string[] {
  try {
    readTasks(tasks)
    return []
  } catch (error) {
    const { detail = [] }: ErrorBody = (error as ValidationError).body('')
    return detail.map(({ loc }) => loc.join('.'))
  }
}

describe('the validation of tasks', () => {
  const A = source('https://files.example/a.txt')
  const WATCH = { every_hours: 24, read_bytes: true }

  it.each<[string, Tasks, Tasks]>([
    ['nothing', {}, { watch: WATCH }],
    ['a watch', { watch: {} }, { watch: WATCH }],
    ['an incomplete watch', { watch: { read_bytes: false } }, { watch: { every_hours: 24, read_bytes: false } }],
    ['a mirror', mirror(A), { mirror: { sources: [A], every_hours: 24 } }],
    [
      'a webhook',
      { tell: { url: 'https://hooks.example/' } },
      { watch: WATCH, tell: { url: 'https://hooks.example/', only_alerts: false } },
    ],
    [
      'everything',
      { ...mirror(A), watch: { every_hours: 1 }, tell: { url: 'https://hooks.example/', only_alerts: true } },
      {
        mirror: { sources: [A], every_hours: 24 },
        watch: { every_hours: 1, read_bytes: true },
        tell: { url: 'https://hooks.example/', only_alerts: true },
      },
    ],
  ])('AGENT-04 fills in the defaults when %s is requested', (_, asked, complete) => {
    expect(readTasks(asked)).toEqual(complete)
    expect(readTasks(complete)).toEqual(complete)
  })

  it('AGENT-04 drops unknown fields', () => {
    const asked = { ...mirror({ ...A, note: 'x' } as typeof A), watch: { junk: 'x'.repeat(1e5) } } as Tasks
    expect(readTasks(asked)).toEqual({ mirror: { sources: [A], every_hours: 24 }, watch: WATCH })
  })

  it.each(['http://files.example/a', 'https://localhost/a', 'https://'])('AGENT-04 T-08 rejects the URL %s', (url) => {
    expect(problemsOf(mirror(A, source(url, 'b.txt')))).toEqual(['body.tasks.mirror.sources.1.url'])
    expect(problemsOf({ tell: { url } })).toEqual(['body.tasks.tell.url'])
  })

  it.each(['../a', '.hidden', 'a//b', '/a', 'a:b', 'a\\b', 'a\u0007', 'é'.repeat(300)])(
    'AGENT-04 T-06 rejects the filename %s',
    (filename) => {
      expect(problemsOf(mirror(source(A.url, filename)))).toEqual(['body.tasks.mirror.sources.0.filename'])
    },
  )

  it('AGENT-04 T-06 rejects sources with equal filenames and accepts filenames that only look alike', () => {
    expect(problemsOf(mirror(A, source('https://files.example/b'), source('https://files.example/c')))).toEqual([
      'body.tasks.mirror.sources.1.filename',
      'body.tasks.mirror.sources.2.filename',
    ])
    expect(problemsOf(mirror(source(A.url, 'caf\u00e9'), source(A.url, 'cafe\u0301')))).toEqual([])
    expect(problemsOf(mirror(source(A.url, '__proto__'), source(A.url, 'constructor')))).toEqual([])
  })
})
