import { describe, expect, it } from 'vitest'
import { ConfigError, SettingsReader } from '../../src/program/config.ts'

describe('reading settings', () => {
  it('CFG-01 uses defaults for variables that are unset or empty', () => {
    const settings = new SettingsReader({ PORT: '', NAME: 'x', LEVEL: 'warn', URL: 'https://a.example/gw/' })
    expect(settings.integer('PORT', 8402, { min: 0, max: 65_535 })).toBe(8402)
    expect(settings.text('NAME', 'y')).toBe('x')
    expect(settings.oneOf('LEVEL', ['info', 'warn'], 'info')).toBe('warn')
    expect(settings.url('URL', 'http://localhost')).toBe('https://a.example/gw')
    expect(() => settings.done()).not.toThrow()
    expect([...settings.asked]).toEqual([
      ['PORT', '8402'],
      ['NAME', 'y'],
      ['LEVEL', 'info'],
      ['URL', 'http://localhost'],
    ])
  })

  it('CFG-01 CRON-05 trims the entries of lists and drops empty ones', () => {
    const settings = new SettingsReader({ A: ' gold, silver ,, ', B: ' , ' })
    expect([settings.list('A'), settings.list('B'), settings.list('C', 'x, y')]).toEqual([
      ['gold', 'silver'],
      [],
      ['x', 'y'],
    ])
  })

  it('CFG-01 reports all problems at once', () => {
    const settings = new SettingsReader({ PORT: '70000', LEVEL: 'loud', URL: 'ftp://x', AGE: '1.5' })
    settings.integer('PORT', 1, { min: 0, max: 65_535 })
    settings.integer('AGE', 1, { min: 0, max: 10 })
    settings.oneOf('LEVEL', ['info', 'warn'], 'info')
    settings.url('URL', 'http://localhost')
    expect(() => settings.done()).toThrow(ConfigError)
    expect(() => settings.done()).toThrow(/PORT.*AGE.*LEVEL.*URL/s)
  })
})
