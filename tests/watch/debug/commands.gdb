# read by commands.txt
echo from a script\n
output/x 255
echo \n
break twice
info breakpoints
nonsense
echo not reached\n
