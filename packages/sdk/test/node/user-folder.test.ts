import { describe, expect, it } from 'vitest'
import { homeFolder, userFolder } from '../../src/node/user-folder.ts'

describe('userFolder', () => {
  it.each<[Record<string, string>, string | null]>([
    [{ XDG_CONFIG_HOME: '/x', HOME: '/home/a' }, '/x/svc'],
    [{ XDG_CONFIG_HOME: 'x', HOME: '/home/a' }, '/home/a/.config/svc'],
    [{ XDG_CONFIG_HOME: '', HOME: '/home/a' }, '/home/a/.config/svc'],
    [{ HOME: '/home/a' }, '/home/a/.config/svc'],
    [{ HOME: 'a' }, null],
    [{ HOME: '.' }, null],
  ])('returns for the variables %j: %s', (env, folder) => {
    expect(userFolder(env, 'XDG_CONFIG_HOME')).toBe(folder)
  })

  it('is never below the working directory', () => {
    expect(userFolder({ XDG_CACHE_HOME: '', HOME: '/home/a' }, 'XDG_CACHE_HOME')).toBe('/home/a/.cache/svc')
    expect(homeFolder({ HOME: '' })).toMatch(/^\//)
  })
})
