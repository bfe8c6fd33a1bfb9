import type { Parser } from '../../src/parsers/engine/parser.ts'

export function open(): Parser {
  const kept: number[][] = []
  return {
    seeds: ['x'],
    words: [],
    check() {
      for (;;) kept.push(new Array(1_000_000).fill(0))
    },
  }
}
