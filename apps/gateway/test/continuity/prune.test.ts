import { mkdtemp, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesIn } from '@svc/database/journal/folder'
import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { runCommand } from '../gateway-process.ts'
import { healthIn } from './health.ts'

const DAY_SECONDS = 86_400

const deployment = forAllTests(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-prune-'))
  const database = await createFreshDatabase('sqlite')
  const drop = async () => {
    await database.drop()
    await rm(folder, { recursive: true })
  }
  return { variables: { DATA_DIR: folder, DATABASE_URL: database.url, LOGBOOK_DIR: join(folder, 'logbook') }, drop }
})

async function files(): Promise<string[]> {
  return (await filesIn(deployment.variables.LOGBOOK_DIR)).map(({ name }) => name)
}

/** Writes a file with a locker in it, last modified so many days ago. */
async function writtenBefore(days: number): Promise<string> {
  const before = await files()
  const instance = await openTestGateway(deployment.variables)
  await healthIn(instance.gateway, 'current')
  await instance.locker(ed25519Identity())
  await instance.close()
  const name = (await files()).find((each) => !before.includes(each))!
  const at = Date.now() / 1000 - days * DAY_SECONDS
  await utimes(join(deployment.variables.LOGBOOK_DIR, name), at, at)
  return name
}

const command = (...args: string[]) =>
  runCommand(['journal', ...args], { SVC_MODE: 'development', ...deployment.variables })

it('ADD-29 journal files are kept as long as a backup may be restored, by KEEP_DAYS or by command', {
  tags: ['nightly'],
}, async () => {
  const [oldest, old, recent] = [await writtenBefore(80), await writtenBefore(40), await writtenBefore(20)]
  const shown = await command()
  expect(shown.stdout.trim().split('\n'), shown.stderr).toEqual(
    [oldest, old, recent].map((name) => expect.stringMatching(`^${name} +\\d+ bytes +until .*Z +in the database$`)),
  )

  const instance = await openTestGateway({ ...deployment.variables, KEEP_DAYS: 'logbook=60' })
  await healthIn(instance.gateway, 'current')
  await expect.poll(files).not.toContain(oldest)
  await instance.close()
  expect(await files()).toEqual([old, recent])

  expect((await command('prune', '--before', 'long ago', '--reason', 'a test')).stderr).toContain('usage')
  const before = new Date(Date.now() - 30 * DAY_SECONDS * 1000).toISOString()
  const pruned = await command('prune', '--before', before, '--reason', 'all backups are younger')
  expect(pruned, pruned.stderr).toMatchObject({ code: 0, stdout: `removed ${old}\n1 files removed.\n` })
  expect(await files()).toEqual([recent])

  const writing = await openTestGateway(deployment.variables)
  await healthIn(writing.gateway, 'current')
  const open = (await files()).filter((name) => name !== recent)
  const tomorrow = new Date(Date.now() + DAY_SECONDS * 1000).toISOString()
  await command('prune', '--before', tomorrow, '--reason', 'a backup was made just now')
  expect(await files()).toEqual(open)
  await writing.close()
})
