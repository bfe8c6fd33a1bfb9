import { validateHeaderName, validateHeaderValue } from 'node:http'
import { HOSTILE_FILENAMES } from '@svc/protocol/test/filenames'
import { describe, expect, it } from 'vitest'
import { fileHeaders, PUBLIC_LINK_HEADERS, TOKEN_HEADERS } from '../../src/transfers/file-headers.ts'

const page = { filename: 'docs/page.html', contentType: 'text/html; charset=UTF-8', etag: '"sha256:ab"', size: 12 }

describe('headers of a file', () => {
  it('FILE-30 T-09 ADD-06 the stored type, and nothing that a browser would run or guess', () => {
    expect(fileHeaders(page)).toEqual({
      'content-type': 'text/html; charset=UTF-8',
      'content-length': '12',
      'content-disposition': `inline; filename="page.html"; filename*=UTF-8''page.html`,
      'accept-ranges': 'bytes',
      etag: '"sha256:ab"',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': 'cross-origin',
    })
  })

  it('ADD-06 no tag before the hash is recorded', () => {
    expect(fileHeaders({ ...page, etag: null })).not.toHaveProperty('etag')
  })

  it('ADD-06 lengths are written out in full', () => {
    expect(fileHeaders({ ...page, size: 0 })['content-length']).toBe('0')
    expect(fileHeaders({ ...page, size: Number.MAX_SAFE_INTEGER })['content-length']).toBe('9007199254740991')
  })

  it('T-07 T-09 a short URL leaves no trace, and the public link is always asked anew', () => {
    expect(TOKEN_HEADERS).toEqual({ 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' })
    expect(PUBLIC_LINK_HEADERS).toEqual({ 'cache-control': 'no-cache' })
  })

  it('T-30 every accepted name makes lowercase headers that Node sends', () => {
    for (const { name } of HOSTILE_FILENAMES.filter(({ accepted }) => accepted)) {
      const headers = { ...fileHeaders({ ...page, filename: name }), ...TOKEN_HEADERS }
      for (const [header, value] of Object.entries(headers)) {
        expect(header).toBe(header.toLowerCase())
        validateHeaderName(header)
        validateHeaderValue(header, value)
      }
    }
  })
})
