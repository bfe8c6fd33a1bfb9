// A parser that never ends, or takes all memory.

import { problemWith } from '../../../src/properties/made-up-input.ts'

const kept: number[][] = []
const RULES: Record<string, () => void> = {
  spin() {
    for (;;);
  },
  keep() {
    for (;;) kept.push(new Array(100_000).fill(0))
  },
}

const [, , way = '', hangsMs] = process.argv
await problemWith({ examples: ['x'], rule: RULES[way]! }, Number(hangsMs))
