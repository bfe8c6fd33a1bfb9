// Names of files, from the path of a request to the headers of the answer.

import { validateHeaderValue } from 'node:http'
import { posix, win32 } from 'node:path'
import { inlineDisposition } from '@svc/gateway/adapters/http/file-headers'
import { encodedName } from '@svc/gateway/adapters/tus/headers'
import { isSameMediaType, mediaTypeProblem } from '@svc/gateway/files/media-type'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { encodeKey } from '@svc/s3/xml'
import { pathValues } from '@svc/service/http/router'
import { must, type Parser, text } from '../engine/parser.ts'

const readPath = pathValues('/v1/lockers/{locker_id}/files/{+filename}')

export function open(): Parser {
  return {
    seeds: [
      'a.txt',
      'photos/été 2026/1.jpg',
      '.svc/index.json',
      "o'brien (1)*.txt",
      '100%25.txt',
      'text/plain; charset="utf-8"',
    ],
    words: [
      '/',
      '.',
      '..',
      '\\',
      ':',
      '%2f',
      '%',
      '"',
      "'",
      ';',
      '*',
      '\u202e',
      '\ud83d\ude00',
      'CON',
      '.svc/',
      '~',
      '?',
      '#',
    ],
    maxBytes: 2048,
    check(input) {
      const name = text(input)
      checkMediaType(name)
      if (filenameProblem(name, DEFAULT_SYSTEM_PREFIX) !== null) return
      for (const path of [posix, win32]) {
        const way = path.relative('/root', path.resolve('/root', name))
        const isInside = way !== '' && way.split(path.sep)[0] !== '..' && !path.isAbsolute(way)
        must(isInside, 'a name leaves its folder')
        // What is a device of Windows is written `.\CON.`.
        must(way === path.normalize(name).replace(/^\.\\/, ''), 'a name is another path')
      }
      const target = `/v1/lockers/locker_1/files/${encodedName(name)}?x=1`
      must(readPath({}, target).filename === name, 'a name is another one in a path')
      must(decodeURIComponent(encodeKey(name, 'url')) === name, 'a name is another one in a list')
      checkDisposition(name)
    },
  }
}

function checkDisposition(name: string): void {
  const header = inlineDisposition(name)
  validateHeaderValue('content-disposition', header)
  const [, fallback = '', extended = ''] =
    /^inline; filename="([ !#-[\]-~]*)"; filename\*=UTF-8''([\w!#$&+.^`|~%-]*)$/.exec(header) ?? []
  const last = name.slice(name.lastIndexOf('/') + 1)
  must(decodeURIComponent(extended) === last, 'a name is another one in Content-Disposition')
  must(fallback.length === [...last].length, 'the plain name in Content-Disposition has another length')
}

function checkMediaType(given: string): void {
  isSameMediaType('text/plain; charset="utf-8"', given)
  if (mediaTypeProblem(given) !== null) return
  validateHeaderValue('content-type', given)
  must(isSameMediaType(given, given), 'a media type differs from itself')
}
