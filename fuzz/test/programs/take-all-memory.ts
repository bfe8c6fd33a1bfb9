import type { Parser } from '../../src/parsers/engine/parser.ts'

export function open(): Parser {
  const kept: string[][] = []
  return {
    seeds: ['x'],
    words: [],
    check() {
      for (;;) kept.push(Array.from({ length: 10_000 }, (_, i) => `${i}`))
    },
  }
}
