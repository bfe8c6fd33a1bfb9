import { ERROR_GUIDE } from '@svc/api/error-guide'
import { expect, it } from 'vitest'
import { exits, useHome } from '../host.ts'

const home = useHome({ SVC_GATEWAY: 'http://127.0.0.1:9' })

it('ERR-30 lists every code with its status and cause, without a request', async () => {
  const { stdout } = await home.ok('errors')
  const [head, ...lines] = stdout.trimEnd().split('\n')
  expect(head).toMatch(/^CODE +STATUS +CAUSE$/)
  expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual(Object.keys(ERROR_GUIDE).sort())
  expect(stdout).toMatch(/^quote_expired +410 +\S/m)
  const { errors } = await home.json<{ errors: { code: string }[] }>('errors')
  expect(errors.map(({ code }) => code)).toEqual(Object.keys(ERROR_GUIDE))
})

it('ERR-30 explains a code in any case, and what to do next', async () => {
  const { cause, next } = ERROR_GUIDE.FILE_NOT_FOUND
  expect(await home.json('errors', 'file_not_found')).toMatchObject({
    code: 'FILE_NOT_FOUND',
    status: 404,
    cause,
    next,
  })
  const { stdout } = await home.ok('errors', 'OWNER_REQUIRED')
  expect(stdout).toMatch(/^OWNER_REQUIRED +HTTP 403\ncause +\S.*\nnext +\S/)
})

it('ERR-30 rejects an unknown code', async () => {
  expect(await home.svc(['errors', 'toString'])).toMatchObject(exits(2, '`svc errors` lists all codes'))
})
