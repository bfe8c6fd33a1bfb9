import { describe, expect, it } from 'vitest'
import { recognize } from '../src/pages/view/kinds.ts'

const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0))
const of = (filename: string, type: string, head: string) =>
  recognize({ filename, type, head: bytes(head), size: head.length })

describe('the kind of a file', () => {
  it.each([
    ['a.png', 'image/png', '\x89PNG\r\n\x1a\n', 'image', false],
    ['a.png', 'image/png', '<html><script>', 'text', true],
    ['a.png', 'text/html', '\x89PNG\r\n\x1a\n', 'image', false],
    ['a.html', 'text/html', '<svg xmlns=""><script/>', 'text', false],
    ['a.svg', 'image/svg+xml', '<?xml version="1.0"?>\n<!-- a -->\n<svg>', 'svg', false],
    ['a.svg', 'text/plain', '<svg>', 'text', false],
    ['a.svg', 'image/svg+xml', '<html><svg>', 'text', false],
    ['a.pdf', 'application/pdf', '%PDF-1.7\n\0', 'pdf', false],
    ['a.pdf', 'application/pdf', 'MZ\0\0', 'other', true],
    ['a.mp3', 'application/octet-stream', '\xff\xfb\x90\0', 'audio', false],
    ['a', '', '\xff\xfb\x90\0', 'other', false],
    ['a.ogv', 'video/ogg', 'OggS\0', 'video', false],
    ['a.mp4', 'video/mp4', '\0\0\0\x20ftypisom', 'video', false],
    ['a.md', 'text/plain', '# Title', 'markdown', false],
    ['a.txt', 'text/plain', 'caf\xe9 au lait', 'text', false],
    ['a', 'application/octet-stream', 'caf\xe9 au lait', 'other', false],
    ['a', '', 'caf\xc3\xa9', 'text', false],
    ['a.txt', 'text/plain', 'a\0b', 'other', true],
    ['a.jpg.age', 'image/jpeg', 'age-encryption.org/v1\n-> X', 'encrypted', false],
    ['a.jpg', 'image/jpeg', '', 'empty', false],
  ])('T-09 %s, declared as %s, is recognized by its bytes', (filename, type, head, kind, isDisguised) => {
    expect(of(filename, type, head)).toMatchObject({ kind, isDisguised })
  })

  it('T-09 a text stays a text if a character is cut off at the end of the first bytes', () => {
    expect(of('a', '', 'caf\xc3')).toMatchObject({ kind: 'text', charset: 'utf-8' })
  })
})
