import { expect, it } from 'vitest'
import { lru } from '../src/caches.ts'

it('keeps what was used last, up to its capacity', () => {
  const recent = lru<string, number>(2)
  recent.set('a', 1)
  recent.set('b', 2)
  expect(recent.get('a')).toBe(1)
  recent.set('c', 3)
  expect(['a', 'b', 'c'].map(recent.get)).toEqual([1, undefined, 3])
})

it('counts a key that is set again once, and as used', () => {
  const recent = lru<string, number>(2)
  recent.set('a', 1)
  recent.set('b', 2)
  recent.set('a', 3)
  recent.set('c', 4)
  expect(['a', 'b', 'c'].map(recent.get)).toEqual([3, undefined, 4])
})
