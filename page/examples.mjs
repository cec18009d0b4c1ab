// Models that come with the page of models: their file in models/, and the files that they read.
export const examples = [
  { title: 'Pendulum', about: 'one body, one joint', file: 'pendulum.xml' },
  { title: 'Double pendulum', about: 'chaotic, energy is kept', file: 'double-pendulum.xml' },
  { title: 'Four-bar', about: 'a closed loop', file: 'mechanisms/four-bar.xml' },
  { title: 'Engine', about: 'one cylinder, forces of its bearings', file: 'mechanisms/engine.xml' },
  { title: 'Jansen leg', about: 'one leg of a strandbeest', file: 'mechanisms/jansen-leg.xml' },
  { title: 'Scissor lift', about: 'loops on top of each other', file: 'mechanisms/scissor-lift.xml' },
  { title: 'Stewart platform', about: 'six legs in parallel', file: 'mechanisms/stewart-platform.xml' },
  { title: 'Double wishbone', about: 'suspension of a wheel', file: 'mechanisms/double-wishbone.xml' },
  { title: "Newton's cradle", about: 'impacts, one after the other', file: 'contact/newtons-cradle.xml' },
  { title: 'Dominoes', about: 'rigid contact with friction', file: 'nonsmooth/dominoes.xml' },
  { title: 'Woodpecker', about: 'stick, slip and impact', file: 'nonsmooth/woodpecker.xml' },
  { title: 'Car', about: 'four suspensions and tyres', file: 'vehicles/car.xml' },
  { title: 'Hexapod', about: 'walks in a tripod gait', file: 'paper1/hexapod.xml', with: ['hexapod-body.xml', 'hexapod-gait.csv'] },
  { title: 'Humanoid', about: '38 degrees of freedom, falling', file: 'humanoid.xml' },
];
