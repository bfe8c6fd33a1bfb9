// Restricts which files open a database or commit while it is behind, as a part of `npm run check`. `database.db` itself
// refuses writes; this check finds what it cannot: other connections, and commits that its guard lets through.

import { globSync, readFileSync } from 'node:fs'

interface Rule {
  what: string
  patterns: RegExp[]
  /** Files and folders, each with the reason. */
  allowed: Record<string, string>
}

/** Imports are matched, because code cannot rename a module there. */
const IMPORTS_OF_OPENERS = [
  /\bimport\s+(?!type\b)[^;'"]*?from\s+'(?:node:sqlite|pg|pg-boss|better-sqlite3|@svc\/database\/(?:postgres|reader|sqlite|sqlite-file))'/g,
  /\bimport\s+(?!type\b)[^;'"]*?(?<!type\s+)(?:\b(?:Kysely|\w+Dialect|\w+Driver)\b|\*)[^;'"]*?from\s+'kysely'/g,
  /\bimport\s+(?!type\b)[^;'"]*?\bcreateCommit\b[^;'"]*?from\s+'@svc\/database\/commit'/g,
  /\b(?:import|require)\(\s*['"`](?:node:sqlite|pg|pg-boss|kysely|@svc\/database\/[\w-]+)['"`]\s*\)/g,
]

const RULES: Rule[] = [
  {
    what: 'opens a database',
    patterns: IMPORTS_OF_OPENERS,
    allowed: {
      'packages/database/': 'implements commit',
      'packages/devnet/': 'for tests',
      'packages/database/src/queue/pg-boss-engine.ts':
        'pg-boss creates queues and fetches jobs over its own connections; a job starts no work while behind',
      'apps/gateway/src/db/move/': 'writes into a database that is not in use yet',
      'apps/gateway/src/evidence/snapshots/chunk-store.ts':
        'writes in a thread; chunks have no effect until a commit names them',
      'apps/gateway/src/evidence/snapshots/read-files.ts': 'reads in a thread',
    },
  },
  {
    what: 'opens its own transaction, or casts to a database type',
    patterns: [
      /\.(?:transaction|startTransaction)\(/g,
      /\bas\s+(?:unknown\s+as\s+|never\s+as\s+)?(?:Kysely|Transaction|\w*Tx)\b/g,
    ],
    allowed: {
      'packages/database/': 'implements commit',
      'packages/devnet/': 'for tests',
      'apps/web/': 'IndexedDB',
      'apps/gateway/src/db/move/': 'writes into a database that is not in use yet',
    },
  },
  {
    what: 'commits while the database may be behind',
    patterns: [/\bwhileBehind\b(?!\??: 'served')(?! (?:=|!)== 'served')/g, /\bWHILE_(?:BEHIND|UNKNOWN)\b/g],
    allowed: {
      'packages/database/src/commit.ts': 'implements commit',
      'packages/service/src/guard/nonces.ts': 'signed reads use up nonces',
      'packages/service/src/guard/rate-limiter.ts': 'requests that only read are rate-limited, too',
      'packages/database/src/queue/engine.ts': 'declares the constant and its reason',
      'packages/database/src/queue/pg-boss-engine.ts': 'returns a job that waits until the database is current',
      'packages/database/src/queue/sqlite-engine.ts': 'records the owner of a job; the work itself uses commit',
      'packages/database/src/queue/schedules.ts': 'records when a job is due; the work itself uses commit',
      'apps/gateway/src/keys/record-signing-key.ts': 'runs at the first start, when nothing can be compared yet',
      'apps/gateway/src/publication/log/identity.ts': 'writes the name of a log that has signed nothing',
      'apps/gateway/src/continuity/replicas/replica.ts': 'marks the database as behind, for all replicas',
      'apps/gateway/src/bin/with-operations.ts': 'decides whether a command starts the comparison',
      'apps/gateway/src/bin/journal.ts': 'shows files',
      'apps/gateway/src/bin/replay.ts': 'repairs the database',
    },
  },
]

/** The exact statements that files with their own connection may write in a running gateway. */
const WRITTEN: Record<string, string[]> = {
  'apps/gateway/src/evidence/snapshots/chunk-store.ts': ['insert into snapshot_chunks'],
  'apps/gateway/src/evidence/snapshots/read-files.ts': [],
  'packages/database/src/queue/pg-boss-engine.ts': [],
}
const WRITES =
  /\b(?:insert\s+(?:or\s+\w+\s+)?into|replace\s+into|merge\s+into|delete\s+from|truncate|drop\s+\w+|alter\s+\w+|create\s+\w+)\s+\w+|\bupdate\s+\w+\s+set\b|\.(?:insertInto|deleteFrom|updateTable|replaceInto|mergeInto)\(\s*'\w+'/gi

export interface SourceFile {
  file: string
  text: string
}

/** Returns the problems in these sources; with `isAll`, also unused entries of the lists. */
export function findWrites(sources: readonly SourceFile[], { isAll = false } = {}): string[] {
  return [
    ...RULES.flatMap((rule) => {
      const found = sources.flatMap((source) => matchesOf(source, rule.patterns))
      const places = Object.keys(rule.allowed)
      const unused = places.filter((place) => !found.some(({ file }) => file.startsWith(place)))
      return [
        ...found
          .filter(({ file }) => !places.some((place) => file.startsWith(place)))
          .map(({ file, line, hit }) => `${file}:${line}: "${hit}" ${rule.what}`),
        ...(isAll ? unused.map((place) => `scripts/writes.ts: nothing in ${place} ${rule.what}`) : []),
      ]
    }),
    ...sources.flatMap((source) => {
      const allowed = WRITTEN[source.file]
      return matchesOf(source, [WRITES])
        .filter(({ hit }) => allowed && !allowed.includes(hit))
        .map(({ file, line, hit }) => `${file}:${line}: "${hit}" writes past database.commit`)
    }),
  ]
}

function matchesOf({ file, text }: SourceFile, patterns: readonly RegExp[]) {
  const code = text.replace(/(?<=^|\s)\/\/[^\n]*|^\s*\/\*[\s\S]*?\*\//gm, (comment) => comment.replace(/[^\n]/g, ' '))
  return patterns
    .flatMap((pattern) => [...code.matchAll(pattern)])
    .map(({ 0: hit, index }) => ({
      file,
      hit: hit.replace(/\s+/g, ' '),
      line: code.slice(0, index).split('\n').length,
    }))
}

if (import.meta.main) {
  const files = globSync('{apps,packages}/*/src/**/*.{ts,tsx}')
  const problems = findWrites(
    files.map((file) => ({ file, text: readFileSync(file, 'utf8') })),
    { isAll: true },
  )
  for (const problem of problems) console.error(problem)
  process.exit(problems.length > 0 ? 1 : 0)
}
