% Reads results of a pendulum, and finds its period and the residual of the energy balance.
%
%   sarrus run models/pendulum.xml --out pendulum.csv        (or --out pendulum.h5)
%   octave-cli --path bindings/octave --eval 'file = "pendulum.csv"; example'
if ~exist("file", "var")
  file = "pendulum.csv";
end
r = sarrus_read(file);
printf("%s: %d rows of %d columns\n", file, size(r.table, 1), numel(r.names));

t = sarrus_column(r, "t");
theta = sarrus_column(r, "q.theta");
falls = find(theta(1:end-1) > 0 & theta(2:end) <= 0);   % where it swings through the lowest point one way
at = t(falls) + theta(falls) ./ (theta(falls) - theta(falls + 1)) .* (t(falls + 1) - t(falls));
printf("period %.5f s\n", mean(diff(at)));

energy = sarrus_column(r, "kinetic") + sarrus_column(r, "potential");
printf("energy wanders by %.2g J\n", max(energy) - min(energy));
% plot(t, theta); xlabel("t [s]"); ylabel(["q.theta [" r.units{strcmp(r.names, "q.theta")} "]"]);
