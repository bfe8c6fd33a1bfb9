import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { createStatementCache } from '../src/sqlite-statements.ts'

describe('the statement cache', () => {
  it('drops the least recently used statement when it is full', () => {
    const prepared = createStatementCache(new DatabaseSync(':memory:'))
    const used = prepared('select -1').statement
    const unused = prepared('select -2').statement
    for (let i = 0; i < 1000; i++) {
      prepared(`select ${i}`)
      expect(prepared('select -1').statement).toBe(used)
    }
    expect(prepared('select -2').statement).not.toBe(unused)
  })
})
