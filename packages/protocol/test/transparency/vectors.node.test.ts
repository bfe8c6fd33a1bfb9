import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { makeVectors } from '../../../../vectors/make-transparency.ts'

it('LOG-36 the vectors equal the output of make-transparency.ts byte for byte', () => {
  const folder = new URL('../../../../vectors/transparency/', import.meta.url)
  const made = makeVectors()
  expect(readdirSync(folder).toSorted()).toEqual([...made.keys(), 'published.json'].toSorted())
  for (const [name, text] of made) expect(readFileSync(new URL(name, folder), 'utf8'), name).toBe(text)
})
