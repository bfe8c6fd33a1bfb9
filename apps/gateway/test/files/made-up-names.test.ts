// Names of files, in paths and lists.

import { posix, win32 } from 'node:path'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must, text } from '@svc/devnet/properties/rules'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { encodeKey } from '@svc/s3/xml'
import { pathValues } from '@svc/service/http/router'
import { expect, it } from 'vitest'
import { encodedName } from '../../src/adapters/tus/headers.ts'

const readPath = pathValues('/v1/lockers/{locker_id}/files/{+filename}')

it('T-129 no made-up input breaks the rules of names of files', async () => {
  expect(
    await problemWith({
      examples: ['a.txt', 'photos/été 2026/1.jpg', '.svc/index.json', "o'brien (1)*.txt", '100%25.txt'],
      words: `/ . .. \\ : %2f % " ' ; * \u202e \ud83d\ude00 CON .svc/ ~ ? #`.split(' '),
      maxBytes: 2048,
      rule(input) {
        const name = text(input)
        if (filenameProblem(name, DEFAULT_SYSTEM_PREFIX) !== null) return
        for (const path of [posix, win32]) {
          const relativePath = path.relative('/root', path.resolve('/root', name))
          const isInside =
            relativePath !== '' && relativePath.split(path.sep)[0] !== '..' && !path.isAbsolute(relativePath)
          must(isInside, 'a name leaves its folder')
          // The path of a name that is a device on Windows is `.\CON.`.
          must(relativePath === path.normalize(name).replace(/^\.\\/, ''), 'a name becomes another path')
        }
        const target = `/v1/lockers/locker_1/files/${encodedName(name)}?x=1`
        must(readPath({}, target).filename === name, 'a name changes in a path')
        must(decodeURIComponent(encodeKey(name, 'url')) === name, 'a name changes in a list')
      },
    }),
  ).toBeNull()
})
