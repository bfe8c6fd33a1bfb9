import { expect, it } from 'vitest'
import { entryBundle, readEntryBundle, readTilePath, tilePath, tileWidth } from '../../src/transparency/tiles.ts'
import { entry, memoryLog } from './trees.ts'

it('LOG-03 tiles have the names that C2SP specifies', () => {
  expect(tilePath({ level: 0, index: 1_234_067, width: 256 })).toBe('tile/0/x001/x234/067')
  expect(tilePath({ level: 1, index: 0, width: 17 })).toBe('tile/1/000.p/17')
  expect(tilePath({ level: 'entries', index: 273, width: 112 })).toBe('tile/entries/273.p/112')
})

it('LOG-03 each tile has one path, and other paths name none', () => {
  for (const path of ['tile/0/000', 'tile/63/x001/000', 'tile/entries/x123/456.p/255', 'tile/2/999.p/1'])
    expect(tilePath(readTilePath(path)!)).toBe(path)
  const levels = ['tile/64/000', 'tile/00/000', 'tile/-1/000', 'tile/entry/000', 'checkpoint']
  const indexes = ['0', 'x000/001', '1000', '../000', '000/', 'x999/x999/x999/x999/x999/x999/999']
  const widths = ['0', '256', '01', '']
  const others = [...levels, ...indexes.map((index) => `tile/0/${index}`), ...widths.map((w) => `tile/0/000.p/${w}`)]
  expect(others.filter((path) => readTilePath(path) !== null)).toEqual([])
})

it('LOG-03 a tree of 70,000 entries has the tiles of the example', { tags: ['nightly'] }, () => {
  const { tiles } = memoryLog([70_000])
  const paths = [...tiles.keys()]
  expect(paths.filter((path) => /^tile\/0\/[^.]*$/.test(path))).toHaveLength(273)
  expect(paths.filter((path) => !/^tile\/0\/[^.]*$/.test(path))).toEqual([
    'tile/0/273.p/112',
    'tile/1/000',
    'tile/1/001.p/17',
    'tile/2/000.p/1',
  ])
  expect(tileWidth(70_000, 1, 1)).toBe(17)
  expect(tileWidth(70_000, 3, 0)).toBe(0)
  expect([...memoryLog([256]).tiles.keys()]).toEqual(['tile/0/000', 'tile/1/000.p/1'])
})

it('LOG-03 bundles of entries are read as written, and refused if they are incomplete', () => {
  const entries = [entry(0), new Uint8Array(), new Uint8Array(65_535).fill(7)]
  const bundle = entryBundle(entries)
  expect(readEntryBundle(bundle, 3)).toEqual(entries)
  expect(readEntryBundle(bundle, 2)).toBeNull()
  expect(readEntryBundle(bundle, 4)).toBeNull()
  expect(readEntryBundle(bundle.subarray(0, -1), 3)).toBeNull()
  expect(() => entryBundle([new Uint8Array(65_536)])).toThrow(RangeError)
})
