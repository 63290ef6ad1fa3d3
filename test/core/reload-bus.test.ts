import type { Diagnostic } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { ReloadBus } from '../../src/core/session/registry.js'

const ignore: Diagnostic[] = []

describe('ReloadBus', () => {
  it('counts from 0', () => {
    const bus = new ReloadBus()
    expect(bus.version).toBe(0)
    bus.notify(ignore)
    bus.notify(ignore)
    expect(bus.version).toBe(2)
  })

  it('tells every subscriber the version after the change, in order of subscription', () => {
    const bus = new ReloadBus()
    const told: [string, number][] = []
    bus.subscribe((version) => told.push(['a', version]))
    bus.subscribe((version) => told.push(['b', version]))
    bus.notify(ignore)
    bus.notify(ignore)
    expect(told).toEqual([
      ['a', 1],
      ['b', 1],
      ['a', 2],
      ['b', 2],
    ])
  })

  it('subscribing twice is subscribing once', () => {
    const bus = new ReloadBus()
    const told: number[] = []
    const subscriber = (version: number) => void told.push(version)
    bus.subscribe(subscriber)
    bus.subscribe(subscriber)
    bus.notify(ignore)
    expect(told).toEqual([1])
  })

  it('unsubscribes, any number of times', () => {
    const bus = new ReloadBus()
    const told: number[] = []
    const off = bus.subscribe((version) => void told.push(version))
    bus.notify(ignore)
    off()
    off()
    bus.notify(ignore)
    expect(told).toEqual([1])
    expect(bus.version).toBe(2)
  })

  it('forgets a subscriber whose signal is aborted', () => {
    const bus = new ReloadBus()
    const told: string[] = []
    const controller = new AbortController()
    bus.subscribe(() => void told.push('mortal'), controller.signal)
    bus.subscribe(() => void told.push('immortal'))
    bus.notify(ignore)
    controller.abort()
    bus.notify(ignore)
    expect(told).toEqual(['mortal', 'immortal', 'immortal'])
  })

  it('forgets a subscriber that throws, says so, and tells the others', () => {
    const bus = new ReloadBus()
    const told: number[] = []
    const diagnostics: Diagnostic[] = []
    bus.subscribe(() => {
      throw new Error('boom')
    })
    bus.subscribe((version) => void told.push(version))
    bus.notify(diagnostics)
    bus.notify(diagnostics)
    expect(told).toEqual([1, 2])
    expect(diagnostics).toEqual([
      { code: 'subscriber-failed', text: 'a subscriber threw and was removed: boom' },
    ])
  })

  it('lets a subscriber subscribe another, which hears the next change', () => {
    const bus = new ReloadBus()
    const told: number[] = []
    const off = bus.subscribe(() => {
      off()
      bus.subscribe((version) => void told.push(version))
    })
    bus.notify(ignore)
    expect(told).toEqual([])
    bus.notify(ignore)
    expect(told).toEqual([2])
  })
})
