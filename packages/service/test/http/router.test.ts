import { describe, expect, it } from 'vitest'
import { createRouter, pathValues, routerPath } from '../../src/http/router.ts'

describe('the rest of a path', () => {
  const valuesOf = pathValues('/v1/r/{receipt_id}/f/{+filename}')
  const filename = (target: string) => valuesOf({ receipt_id: 'r', '*': 'what the router says' }, target).filename

  it.each([
    ['a.txt', 'a.txt'],
    ['folder/a.txt', 'folder/a.txt'],
    ['folder%2Fa.txt', 'folder/a.txt'],
    ['a%252Fb', 'a%2Fb'],
    ['%2e%2e/b', '../b'],
    ['a//b', 'a//b'],
    ['%F0%9F%98%80', '😀'],
    ['a%3Fb%23c', 'a?b#c'],
    ['a?x=/b', 'a'],
    ['v1/r/x/f/y', 'v1/r/x/f/y'],
  ])('T-05 %j is decoded once, segment by segment', (sent, read) => {
    expect(filename(`/v1/r/r/f/${sent}`)).toBe(read)
  })

  it('T-05 is the same in the form for proxies', () => {
    expect(filename('http://gateway.example:80/v1/r/r/f/folder/a.txt?x')).toBe('folder/a.txt')
    expect(filename('HTTPS://gateway.example/v1/r/r/f/http://b')).toBe('http://b')
  })

  it('T-05 leaves the other values to the router', () => {
    expect(valuesOf({ receipt_id: 'r/s', '*': '' }, '/v1/r/r%2Fs/f/a')).toEqual({ receipt_id: 'r/s', filename: 'a' })
    expect(pathValues('/f/{token}')({ token: 't' }, '/f/other')).toEqual({ token: 't' })
  })

  it('becomes a wildcard in the notation of the router', () => {
    expect(routerPath('/v1/r/{receipt_id}/f/{+filename}')).toBe('/v1/r/:receipt_id/f/*')
    expect(routerPath('/f/{token}')).toBe('/f/:token')
  })
})

describe('a router', () => {
  const router = createRouter()
  const upload = { otherwise: 'in parts' }
  const add = (method: string, path: string) =>
    router.add({ method, path, upload, maxBodyBytes: null, handle: () => {} })
  add('GET', '/v1/files/{+filename}')
  add('DELETE', '/v1/files/{+filename}')
  add('PUT', '/f/{token}')
  add('GET', '/.well-known/svc.json')

  it.each([
    ['/v1/files/a', ['GET', 'HEAD', 'DELETE']],
    ['/v1/files/a/b?c', ['GET', 'HEAD', 'DELETE']],
    ['http://host/v1/files/a', ['GET', 'HEAD', 'DELETE']],
    ['/v1/files/', []],
    ['/v1/files', []],
    ['/f/a', ['PUT']],
    ['/f/a/b', []],
    ['/.well-known/svcxjson', []],
  ])('knows the methods of %s', (target, methods) => {
    expect(router.methodsAt(target)).toEqual(methods)
  })

  it('finds a route with the values and the query of its path', () => {
    const found = router.find('PUT', '/f/a%20b?c=d')
    expect(found).toMatchObject({ route: { routerPath: '/f/:token' }, params: { token: 'a b' }, search: 'c=d' })
    expect(router.find('PROPFIND', '/f/a')).toBeNull()
    expect(router.find('PUT', '/f/%zz')).toBe('malformed')
  })

  it('returns the advice for an upload', () => {
    expect(router.uploadAt('PUT', '/f/a')).toBe(upload)
    expect(router.uploadAt('PUT', '/g')).toBeNull()
  })
})
